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
    return update_readme.summary_part([run]), update_readme.record_part([run])


class SpeedTables(unittest.TestCase):
    def test_accuracy_and_errors_stand_with_the_ratios(self):
        for page in tables(record(2048, 1.2, 3e-6), record(4096, 1.5, 2e-5)):
            self.assertIn("`--accuracy fast`; the default is `balanced`", page)
            self.assertIn("At least 1 of these 2 results", page)
            self.assertLess(page.index("--accuracy fast"), page.index("| 2048" if "| 2048" in page else "| f32"))
        summary, records = tables(record(2048, 1.2, 3e-6), record(4096, 1.5, 2e-5))
        self.assertIn("**1.20**, error 3.0x", summary)
        self.assertIn("**1.50**, error 20x", summary)
        self.assertIn("| 1.200 | 3.0 |", records)

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
        summary, records = tables(record(4096, 1.5, 1e-6), alone)
        self.assertNotIn("2048", summary)
        self.assertIn("| gf2 | 2048 |  |  |  |  | 1 s |", records)

    def test_the_readme_shows_each_machine_with_its_errors_at_the_default_accuracy(self):
        slow = ("a.json", {"cpu": "a processor", "cores": 2}, [record(n, 1.5, 2e-5, suite="cpu", accuracy="balanced") for n in (2048, 4096, 8192)])
        loose = ("c.json", {"cpu": "a loose one", "cores": 2}, [record(n, 9.0, 2e-5, suite="cpu") for n in (2048, 4096, 8192)])
        both = ("b.json", {}, [record(4096, 3.0, 5e-7, device="a card", accuracy=word) for word in ("balanced", "fast")])
        part = update_readme.speed_picture.readme_part([slow, both, loose], lambda r: True)
        self.assertIn("| type | n | a card | a processor, 2 cores |", part)
        self.assertIn("| f32 | 4096 | **3.00** (0.5) | **1.50** (20) |", part)
        self.assertLessEqual(part.count("\n| f"), 8)
        drawn = update_readme.speed_picture.picture([slow, both, loose], lambda r: True)
        self.assertIn("a processor, 2 cores", drawn)
        self.assertIn("prefers-color-scheme: dark", drawn)
        self.assertNotIn("a loose one", part + drawn)
        self.assertNotIn("a card", drawn)  # one size makes no line

    def test_the_readme_keeps_machines_of_two_kinds_apart(self):
        """Two Xeons that tell the same name, and the libraries that were measured."""
        machine = {"cpu": "Intel(R) Xeon(R) Processor", "cores": 2}
        runs = [(name, machine, [record(2048, ratio, 2e-5, suite="cpu", accuracy="balanced")])
                for name, ratio in (("xeon-amx-a.json", 1.5), ("xeon-avx512-b.json", 0.98))]
        part = update_readme.speed_picture.readme_part(runs, lambda r: True)
        self.assertIn("| type | n | Xeon (AMX), 2 cores | Xeon (AVX-512), 2 cores |", part)
        self.assertIn("| **1.50** (20) | **0.98** (20) |", part)
        self.assertIn("MKL was not measured", part)

    def test_what_was_slower_is_said(self):
        part = update_readme.slower_document.slower_part
        run = ("run.json", {}, [record(512, 0.5, 0), record(1024, 0.98, 0), record(2048, 0.9, 0), record(4096, 0.8, 0, variant="gemm")])
        said = part([run], lambda r: True, update_readme.table)
        self.assertIn("| `run.json` | fast | f32 | 2048 | 0.900 | cublas |\n| `run.json` | gemm | f32 | 4096 | 0.800 | cublas |\n", said)
        self.assertNotIn("0.500", said)
        self.assertNotIn("0.980", said)
        self.assertEqual("", part([("run.json", {}, [record(2048, 1.2, 0)])], lambda r: True, update_readme.table))

    def test_the_guide_shows_one_size_of_its_files_with_their_accuracy(self):
        records = [record(4096, 1.5, 2e-5), record(8192, 1.75, 2e-5, suite="cpu"), record(8192, 1.25, 0, type="i32")]
        names = update_readme.speed_picture.GUIDE_FILES
        runs = [(name, {"cpu": "a processor", "cores": 2}, records if name == names[-1] else []) for name in names]
        part = update_readme.speed_picture.accuracy_part([*runs, ("other.json", {}, records)], lambda r: True)
        self.assertEqual([f"| a processor, 2 cores | `fast` | f32 | 1.75 | 20 | `{names[-1]}` |"], part.split("\n")[2:])

    def test_rates_are_in_units_that_people_read(self):
        self.assertEqual(["76.74 T/s", "250.2 G/s"], [update_readme.rate_text(rate) for rate in (76.74, 0.2502)])

    def test_residues_have_a_row_for_each_file_and_type_and_say_where_the_vendor_was_taken(self):
        by_residues = {"plan": "plan ... arithmetic=residues:7 ...", "error_bound": 1e-3}
        files = [("some", [record(4096, 2.5, 1e-7, **by_residues), record(8191, 9.0, 1e-7, **by_residues),
                           record(2048, 1.0, 1e-6, plan="plan ... leaf=cublas", error_bound=1e-3)]),
                 ("others", [record(4096, 12.0, 0, **{**by_residues, "type": "i64", "error_bound": 0, "vendor": "a loop", "vendor_error": 0})])]
        part = update_readme.residue_document.measured_part(files, update_readme.table)
        self.assertIn("| f32 `fast`, 7 moduli (`some.json`) | the vendor's own | 2.50, 0.10 |", part)
        self.assertIn("| i64 over a loop, 7 moduli (`others.json`) |  | 12.00 |", part)
        self.assertNotIn("9.00", part)  # odd sizes are another story
        drawn = update_readme.residue_document.picture(files)
        self.assertEqual(drawn.count("<circle"), 4)  # ratio and error of two products
        self.assertNotIn("i64", drawn)  # nothing to compare the errors of


if __name__ == "__main__":
    unittest.main()
