#!/usr/bin/env node
'use strict';

// Starts the native program, with the same arguments, streams and signals, and ends as it does. Hooks do not come this way:
// `conclaude install` registers the native program itself.

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { optionalDependencies, installers } = require('../package.json');

const platform = `${process.platform}-${process.arch}`;

function fail(what) {
  const others = installers.map((line) => `\n  ${line}`).join('');
  fs.writeSync(2, `conclaude: ${what}. Other ways to install it:${others}\n`);
  process.exit(1);
}

function find() {
  const name = `@conclaude/cli-${platform}`;
  if (!Object.hasOwn(optionalDependencies, name)) {
    fail(`there is no npm package for ${platform}`);
  }
  const file = process.platform === 'win32' ? 'conclaude.exe' : 'conclaude';
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), file);
  } catch {
    return fail(
      `the program for ${platform} is missing: ${name} is not installed. Was it installed with --omit=optional, or for another platform? ` +
        'Install it again without that',
    );
  }
}

const program = find();
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit', windowsHide: true });

// On a terminal, the keyboard's signals reach the whole group.
const onTerminal = [0, 1, 2].some((stream) => require('node:tty').isatty(stream));
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR2', 'SIGWINCH']) {
  const isSent = onTerminal && ['SIGINT', 'SIGQUIT', 'SIGWINCH'].includes(signal);
  try {
    process.on(signal, () => isSent || child.kill(signal));
  } catch {
    // This platform does not have it.
  }
}

child.on('error', (error) => fail(`${program} cannot be started: ${error.message}`));
child.on('exit', (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Where that signal does not end us.
  setTimeout(() => process.exit(128 + (os.constants.signals[signal] ?? 0)), 100);
});
