# The models are tests: their RUN lines are read as those under test/ are.
import os

config.attn_suite = "docs/models"
top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
lit_config.load_config(config, os.path.join(top, "test", "lit.cfg.py"))
