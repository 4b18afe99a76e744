//! `owed demo`.

use crate::harness::owed_in;

#[test]
fn the_demo_shows_plan_why_opacity_and_run_and_leaves_a_project_to_play_with() {
    let place = tempfile::tempdir().unwrap();
    let ran = owed_in(place.path(), &["demo", "--into", "playground"], &[]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    ran.says(&[
        "$ owed plan",
        "Nothing is owed: nothing changed.",
        "1 change, 2 of 5 test files owed",
        "shop/cart.test.ts  <- shop/index.ts <- shop/price.ts",
        "$ owed why shop/cart.test.ts",
        "-> shop/index.ts (static, line 3 of cart.test.ts)",
        "$ owed why shop/greeting.test.ts",
        "is not owed",
        "shop/tax.test.ts",
        "6 test files: 1 pure, 1 pinned, 1 bounded, 1 time-opaque, 1 unknown, 1",
        "shop/tax.test.ts (node:test) is pinned",
        "extras/labels.test.ts (node:test) is bounded",
        "extras/today.ts:2  time-opaque: Date (clock, when today is used)",
        "extras/today.test.ts -> extras/today.ts",
        "$ owed run stock/levels.py",
        "1 test file owed: 1 run, 0 reused",
        "1 test file owed: 0 run, 1 reused",
        "inputs-differ file stock/levels.py",
        "The folder is kept.",
    ]);
    let playground = place.path().join("playground");
    owed_in(&playground, &["plan", "stock/levels.py", "--format", "paths"], &[])
        .says(&["tests/test_report.py"]);
    owed_in(place.path(), &["demo", "--into", "playground"], &[]).refused("is not empty", "new or empty");
}
