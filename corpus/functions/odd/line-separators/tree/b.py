def f():
    """a b"""
    return "c d"
