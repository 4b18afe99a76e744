export const a = 1; // café
