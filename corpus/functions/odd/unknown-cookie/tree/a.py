# coding: no-such-thing
def f(): pass
