//! Every form of `cases/forms` decides each of its bodies.

use super::{cases, decides, read, usual};
use formgate::form::CompiledForm;

#[test]
fn every_shipped_body_is_decided_right() {
    let (mut forms, mut bodies) = (0, 0);
    for entry in std::fs::read_dir(cases("forms")).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        forms += 1;
        let text = read(&folder.join("form.json"));
        let form = CompiledForm::compile(&text, &usual())
            .unwrap_or_else(|faults| panic!("{}: {faults:#?}", folder.display()));
        for (verdict, kind) in [(true, "accept"), (false, "reject")] {
            let Ok(files) = std::fs::read_dir(folder.join(kind)) else { continue };
            for file in files {
                let file = file.unwrap().path();
                let body = std::fs::read(&file).unwrap();
                assert_eq!(decides(&form, &body), verdict, "{}", file.display());
                bodies += 1;
            }
        }
    }
    assert!(forms >= 9 && bodies > 100, "{forms} forms, {bodies} bodies");
}
