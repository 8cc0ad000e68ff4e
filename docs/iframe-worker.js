// Browsers start no worker in a page that was opened as a file. There an invisible frame runs the search of the site.
// mkdocs.yml names this file in place of the one that Material's plugin `offline` would load from unpkg.com.
if (location.protocol === "file:") {
    window.IFrameWorker = class extends EventTarget {
        constructor(url) {
            super();
            this.frame = document.createElement("iframe");
            this.frame.hidden = true;
            document.body.append(this.frame);
            const inside = this.frame.contentWindow;
            inside.document.open();  // so that no later load of about:blank replaces the document
            inside.document.write("<!doctype html><body>");
            inside.document.close();
            const load = source => new Promise((done, failed) => {
                const script = inside.document.createElement("script");
                script.src = source;
                script.onload = done;
                script.onerror = failed;
                inside.document.body.append(script);
            });
            inside.importScripts = (...sources) =>
                sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
            inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", {data}));
            this.ready = load(url);
        }

        postMessage(data) {
            const inside = this.frame.contentWindow;
            this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", {data})));
        }

        terminate() {
            this.frame.remove();
        }
    };
    window.Worker = window.IFrameWorker;
}
