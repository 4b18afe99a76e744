# coding: ascii
def f(): return 'é'
