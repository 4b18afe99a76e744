// fine
const a = 'ÿ';
