# write-modules.py FILE.json: prints the modules that `attn-bench --list --json` wrote, one after the other.

import json
import sys

with open(sys.argv[1]) as file:
    print("// -----\n".join(workload["module"] for workload in json.load(file)["workloads"]))
