//! Byte order marks, line ends, and scripts inside templates.

use owed_engine::facts::{DeclarationKind, Names};

use super::facts;

#[test]
fn a_byte_order_mark_moves_spans_only() {
    let found = facts("a.ts", "\u{feff}import './a'");
    assert_eq!((found.imports[0].span.start, found.imports[0].line), (3, 1));
}

#[test]
fn line_ends() {
    for text in
        ["\n\nimport './a'", "\r\n\r\nimport './a'", "\r\rimport './a'", "\u{2028}\u{2029}import './a'"]
    {
        assert_eq!(facts("a.ts", text).imports[0].line, 3, "{text:?}");
    }
}

#[test]
fn templates() {
    let vue = "<template><A/></template>\n<script setup lang=\"ts\">\nimport A from './A.vue'\nimport * as n from './n'\n</script>\n<script src=\"./extra.ts\"></script>\n<style>@import './no'</style>";
    let found = facts("a.vue", vue);
    assert_eq!(found.damage, []);
    let shown: Vec<_> = found.imports.iter().map(|i| (i.specifier.as_str(), i.line)).collect();
    assert_eq!(shown, [("./A.vue", 3), ("./n", 4), ("./extra.ts", 6)]);
    assert_eq!(found.imports[1].names, Names::Namespace("n".to_owned()));
    assert_eq!(found.declarations.len(), 1);
    assert_eq!(found.declarations[0].kind, DeclarationKind::Module);
    assert_eq!(found.declarations[0].references, ["A", "import(\"./extra.ts\")", "n"]);

    let astro =
        "---\nimport A from './A.astro'\nconst x = await f()\n---\n<A/>\n<script>import './client'</script>";
    let shown: Vec<_> =
        facts("a.astro", astro).imports.iter().map(|i| (i.specifier.clone(), i.line)).collect();
    assert_eq!(shown, [("./A.astro".to_owned(), 2), ("./client".to_owned(), 6)]);

    let svelte = "<script context='module'>import { a } from './a'</script>\n<!-- <script>import './no'</script> -->\n<script>\nimport './b'\n</script>{a}";
    let shown: Vec<_> =
        facts("a.svelte", svelte).imports.iter().map(|i| (i.specifier.clone(), i.line)).collect();
    assert_eq!(shown, [("./a".to_owned(), 1), ("./b".to_owned(), 4)]);
    assert_eq!(facts("a.vue", "<template/>").damage, []);
    assert!(!facts("a.vue", "<script>const = </script>").damage.is_empty());
}
