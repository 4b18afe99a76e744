<<<<<<< HEAD
function f() {}
=======
function g() {}
>>>>>>> b
