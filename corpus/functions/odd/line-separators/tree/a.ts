const a = "x y"; function f() {   return ` `; }
