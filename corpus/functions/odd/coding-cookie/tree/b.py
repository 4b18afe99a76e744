#!/usr/bin/python
# vim: set fileencoding=cp1252 :
def f(): return '€'
