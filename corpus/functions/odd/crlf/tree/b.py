# first
def f(a):
    return a
