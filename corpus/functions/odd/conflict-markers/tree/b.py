def f():
<<<<<<< HEAD
    pass
=======
    return
>>>>>>> b
