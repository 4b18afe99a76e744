# -*- coding: latin-1 -*-
from app.b import b

name = "café"
a = b
