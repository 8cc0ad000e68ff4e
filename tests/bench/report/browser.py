"""Chromium over its debugging pipe: messages are JSON, each ended by a zero byte. Nothing beyond Python is needed."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory()
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()

        def as_three_and_four():
            # Copies far away first: 3 or 4 may be one of the ends that are still needed.
            ends = os.dup2(to_browser, 100), os.dup2(from_browser, 101)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-extensions", "--hide-scrollbars", f"--user-data-dir={self.profile.name}",
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=as_three_and_four, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.complaints = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.profile.cleanup()

    def receive(self):
        while b"\0" not in self.buffer:
            part = os.read(self.answers, 1 << 20)
            if not part:
                raise RuntimeError("the browser ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        event = message.get("method", "")
        if event in ("Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(json.dumps(message["params"]))
        if event == "Runtime.consoleAPICalled" and message["params"]["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(message["params"]))
        if event == "Network.requestWillBeSent" and not message["params"]["request"]["url"].startswith(("file:", "about:")):
            self.complaints.append("it asked for " + message["params"]["request"]["url"][:200])
        return message

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def look(self, width, height=900, scheme="light", media=""):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path):
        answer = self.call("Page.navigate", url="file://" + os.path.abspath(path))
        if "errorText" in answer:
            raise RuntimeError(f"{path}: {answer['errorText']}")
        while self.receive().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def screenshot(self, path, whole=False):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def print(self, path):
        page = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)
        with open(path, "wb") as file:
            file.write(base64.b64decode(page["data"]))
