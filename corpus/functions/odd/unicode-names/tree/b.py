def größe(名):
    return "😀" + 名
