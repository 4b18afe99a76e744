# fine

a = 'ÿ'
