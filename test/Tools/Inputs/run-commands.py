# Runs the commands of the `sh` blocks of a document, in the current folder; paths that begin with docs/ are those of
# the source tree.
#
#   run-commands.py DOCUMENT TOP

import re
import subprocess
import sys

document, top = sys.argv[1:]
with open(document) as file:
    text = file.read()
for block in re.findall(r"```sh\n(.*?)```", text, re.S):
    for command in block.strip().splitlines():
        print(command, flush=True)
        local = re.sub(r"(?<!\S)docs/", top + "/docs/", command)
        status = subprocess.run(local, shell=True, stderr=subprocess.STDOUT).returncode
        if status != 0:
            sys.exit(f"'{command}' failed with status {status}")
print("done")
