function f() {}
function g() {}
