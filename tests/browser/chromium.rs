//! Chromium without a window, driven by the DevTools protocol over a pipe.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// No page may take longer than this, on any machine.
const SECONDS: &str = "600";

pub(crate) struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    id: u64,
    session: Option<String>,
    /// What the page did, among it errors and requests.
    pub(crate) events: Vec<Value>,
    _folder: tempfile::TempDir,
}

impl Browser {
    /// Opens a report, which says when it is ready.
    pub(crate) fn open(page: &Path) -> Browser {
        Browser::open_until(page, "document.documentElement?.dataset.ready")
    }

    /// Opens a page and waits until this expression is true.
    pub(crate) fn open_until(page: &Path, is_ready: &str) -> Browser {
        let folder = crate::common::scratch();
        let pipe = |name: &str| {
            let path = folder.path().join(name);
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            path
        };
        let (to, from) = (pipe("to"), pipe("from"));
        // The protocol is on 3 and 4. Whatever happens, it does not outlive the test by much.
        let script = r#"exec timeout -k 1 "$1" chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-quic --disable-background-networking --disable-component-update --disable-sync --remote-debugging-pipe --user-data-dir="$2" about:blank 3<"$3" 4>"$4""#;
        let child = Command::new("sh")
            .args(["-c", script, "sh", SECONDS])
            .args([&folder.path().join("profile"), &to, &from])
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = File::options().write(true).open(to).unwrap();
        let from = BufReader::new(File::open(from).unwrap());
        let mut browser =
            Browser { child, to, from, id: 0, session: None, events: Vec::new(), _folder: folder };
        browser.attach(page, is_ready);
        browser
    }

    fn attach(&mut self, page: &Path, is_ready: &str) {
        let target = self.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = self.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
        self.size(1400, 900);
        let watch = "window.longTasks = []; new PerformanceObserver(list => window.longTasks.push(...list.getEntries().map(task => task.duration))).observe({entryTypes: ['longtask']})";
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": watch}));
        self.call("Page.navigate", json!({"url": format!("file://{}", page.display())}));
        self.evaluate(&format!(
            "new Promise(done => {{ const look = () => {is_ready} ? done(1) : setTimeout(look, 20); look(); }})"
        ));
    }

    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let mut message = json!({"id": self.id, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut answer = Vec::new();
            let read = self.from.read_until(0, &mut answer).unwrap();
            assert!(read > 0, "chromium is gone; is it installed? (apt-get install chromium)");
            answer.pop();
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            if answer["id"] == self.id {
                assert_eq!(answer["error"], Value::Null, "{method}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    pub(crate) fn size(&mut self, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
        );
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call("Runtime.evaluate", params);
        assert_eq!(result["exceptionDetails"], Value::Null, "{expression}");
        result["result"]["value"].clone()
    }

    /// The text that an element shows.
    pub(crate) fn text(&mut self, selector: &str) -> String {
        let text = self.evaluate(&format!("document.querySelector({}).innerText", json!(selector)));
        text.as_str().unwrap().to_owned()
    }

    pub(crate) fn count(&mut self, selector: &str) -> u64 {
        self.evaluate(&format!("document.querySelectorAll({}).length", json!(selector))).as_u64().unwrap()
    }

    /// Clicks into the middle of an element, as a mouse does.
    pub(crate) fn click(&mut self, selector: &str) {
        let middle = format!(
            "(() => {{ const node = document.querySelector({}); node.scrollIntoView({{block: 'center', behavior: 'instant'}}); const area = node.getBoundingClientRect(); return [area.x + area.width / 2, area.y + area.height / 2]; }})()",
            json!(selector)
        );
        let at = self.evaluate(&middle);
        self.click_at(at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
    }

    pub(crate) fn click_at(&mut self, x: f64, y: f64) {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.call(
                "Input.dispatchMouseEvent",
                json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}),
            );
        }
        self.settle();
    }

    pub(crate) fn key(&mut self, key: &str) {
        let text = if key.chars().count() == 1 {
            key
        } else if key == "Enter" {
            "\r"
        } else {
            ""
        };
        self.call("Input.dispatchKeyEvent", json!({"type": "keyDown", "key": key, "text": text}));
        self.call("Input.dispatchKeyEvent", json!({"type": "keyUp", "key": key}));
        self.settle();
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
        self.evaluate("new Promise(done => setTimeout(done, 250))");
        self.settle();
    }

    /// Waits until what was asked for is painted.
    pub(crate) fn settle(&mut self) {
        self.evaluate("new Promise(done => { const look = () => requestAnimationFrame(() => requestAnimationFrame(() => document.documentElement.dataset.busy ? look() : done())); look(); })");
    }

    /// A picture of the page, for somebody to look at.
    pub(crate) fn screenshot(&mut self, name: &str) -> PathBuf {
        self.settle();
        let data = self.call("Page.captureScreenshot", json!({"format": "png"}))["data"]
            .as_str()
            .unwrap()
            .to_owned();
        let path = self.pictures().join(format!("{name}.png"));
        std::fs::write(&path, base64(&data)).unwrap();
        path
    }

    /// A picture of the page from top to bottom.
    pub(crate) fn whole_page(&mut self, name: &str) {
        self.settle();
        // Sections that are not in view have no size of their own.
        let show = "document.querySelectorAll('#sections > section, #first > section').forEach(one => one.style.contentVisibility = 'visible')";
        self.evaluate(show);
        let size = self.evaluate("[innerWidth, document.documentElement.scrollHeight]");
        let clip = json!({"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1});
        let params = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let data = self.call("Page.captureScreenshot", params)["data"].as_str().unwrap().to_owned();
        std::fs::write(self.pictures().join(format!("{name}.png")), base64(&data)).unwrap();
    }

    /// Where somebody looks for them.
    pub(crate) fn pictures(&self) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Errors of the page and what it tried to load.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let is_complaint = |event: &&Value| match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" | "Log.entryAdded" => true,
            "Runtime.consoleAPICalled" => event["params"]["type"] != "log",
            "Network.requestWillBeSent" => {
                event["params"]["type"] != "Document"
                    || !event["params"]["request"]["url"].as_str().unwrap().starts_with("file:")
            }
            _ => false,
        };
        self.events.iter().filter(is_complaint).map(Value::to_string).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.to.write_all(format!("{}\0", json!({"id": 0, "method": "Browser.close"})).as_bytes());
        let _ = self.child.wait();
    }
}

pub(crate) fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u8> = text.bytes().filter_map(digit).collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let bits =
            four.iter().fold(0u32, |bits, digit| (bits << 6) | u32::from(*digit)) << (6 * (4 - four.len()));
        let [_, a, b, c] = bits.to_be_bytes();
        [a, b, c].into_iter().take(four.len() - 1)
    });
    bytes.collect()
}
