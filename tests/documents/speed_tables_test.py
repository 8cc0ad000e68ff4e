"""What scripts/update_readme writes of made-up records: which accuracy, which error, and what padding brings."""
import pathlib
import sys
import types
import unittest
from importlib.machinery import SourceFileLoader

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.dont_write_bytecode = True
update_readme = types.ModuleType("update_readme")
update_readme.__file__ = str(SCRIPTS / "update_readme")
SourceFileLoader("update_readme", str(SCRIPTS / "update_readme")).exec_module(update_readme)


def record(n, ratio, error, **others):
    return {"suite": "gpu", "type": "f32", "m": n, "k": n, "n": n, "vendor": "cublas", "vendor_s": ratio, "heptad_s": 1,
            "ratio": ratio, "error": error, "vendor_error": 1e-6, "accuracy": "fast", **others}


def tables(*records):
    run = ("run.json", {"cpu": "a processor", "command": "heptad bench gpu"}, list(records))
    return update_readme.readme_part([run]), update_readme.speed_page([run])


class SpeedTables(unittest.TestCase):
    def test_accuracy_and_errors_stand_with_the_ratios(self):
        for page in tables(record(2048, 1.2, 3e-6), record(4096, 1.5, 2e-5)):
            self.assertIn("`--accuracy fast`; the default is `balanced`", page)
            self.assertIn("At least 1 of these 2 results", page)
            self.assertLess(page.index("--accuracy fast"), page.index("| 2048" if "| 2048" in page else "| f32"))
        readme, speed = tables(record(2048, 1.2, 3e-6), record(4096, 1.5, 2e-5))
        self.assertIn("**1.20**, error 3.0x", readme)
        self.assertIn("**1.50**, error 20x", readme)
        self.assertIn("| 1.200 | 3.0 |", speed)

    def test_the_default_is_called_so(self):
        for page in tables(record(2048, 1.2, 3e-6, accuracy="balanced")):
            self.assertIn("`--accuracy balanced`, the default", page)
            self.assertNotIn("refuses", page)

    def test_padding_is_named_where_it_makes_the_ratio(self):
        for page in tables(record(4095, 3.5, 1e-6), record(8191, 2.25, 1e-6)):
            self.assertIn("(2.2 to 3.5) come mostly from padding", page)
        for page in tables(record(4096, 3.5, 1e-6), record(4095, 1.1, 1e-6)):
            self.assertNotIn("padding", page)

    def test_a_record_without_a_vendor_has_empty_columns(self):
        alone = record(2048, None, 0, vendor=None, vendor_s=None, vendor_error=None, type="gf2")
        readme, speed = tables(record(4096, 1.5, 1e-6), alone)
        self.assertNotIn("2048", readme)
        self.assertIn("| gf2 | 2048 x 2048 x 2048 |  |  |  |  | 1 s |", speed)


if __name__ == "__main__":
    unittest.main()
