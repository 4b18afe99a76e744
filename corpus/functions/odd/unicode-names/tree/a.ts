function größe(名: string) { return "😀" + 名; }
const \u0061b = () => 1;
