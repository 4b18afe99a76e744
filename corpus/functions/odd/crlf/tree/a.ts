// first
function f(a) {
  return a;
}
