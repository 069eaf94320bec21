# check-performance.py ROOT DIR: writes the pages that docs/performance.json stands for to DIR and fails unless the
# repository's are the same. Without that file there must be no page and no section in the README.

import json
import pathlib
import sys

root, out = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(root / "tools/dev/bench"))
import report

measured, readme = root / "docs/performance.json", root / "README.md"
if not measured.exists():
    assert not (root / "docs/Performance.md").exists(), "docs/Performance.md has no performance.json"
    assert report.BEGIN not in readme.read_text(), "README.md has a section without docs/performance.json"
    sys.exit()
out.mkdir(parents=True)
(out / "README.md").write_text(readme.read_text())
report.write(json.loads(measured.read_text()), out, out / "README.md")
for ours, theirs in ((out / "README.md", readme), *((out / name, root / "docs" / name)
                                                   for name in ("Performance.md", "performance.svg"))):
    assert ours.read_text() == theirs.read_text(), f"{theirs} is not what report.py writes"
