// A registry of npm on loopback that has the packages of a folder, and says where it listens. It knows the packages of all
// platforms, as the real one does, but has only those that were made here.
'use strict';
const crypto = require('node:crypto');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { execFileSync } = require('node:child_process');

const folder = process.argv[2];
const packages = new Map();
for (const file of fs.readdirSync(folder)) {
  const tarball = fs.readFileSync(path.join(folder, file));
  const text = execFileSync('tar', ['-xzOf', path.join(folder, file), 'package/package.json'], { encoding: 'utf8' });
  const about = JSON.parse(text);
  const integrity = 'sha512-' + crypto.createHash('sha512').update(tarball).digest('base64');
  packages.set(about.name, { about, file, integrity });
}
for (const [name, version] of Object.entries(packages.get('conclaude').about.optionalDependencies)) {
  const [, os, cpu] = name.match(/cli-(\w+)-(\w+)/);
  if (!packages.has(name)) {
    packages.set(name, { about: { name, version, os: [os], cpu: [cpu] }, file: 'missing.tgz', integrity: undefined });
  }
}

const server = http.createServer((request, response) => {
  const name = decodeURIComponent(request.url.slice(1));
  const at = `http://127.0.0.1:${server.address().port}`;
  const found = packages.get(name);
  if (found) {
    const { about, file, integrity } = found;
    const version = { ...about, dist: { tarball: `${at}/-/${file}`, integrity } };
    const time = { created: '2020-01-01T00:00:00Z', modified: '2020-01-01T00:00:00Z', [about.version]: '2020-01-01T00:00:00Z' };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest: about.version }, versions: { [about.version]: version }, time }));
  } else if (name.startsWith('-/') && fs.existsSync(path.join(folder, name.slice(2)))) {
    fs.createReadStream(path.join(folder, name.slice(2))).pipe(response);
  } else {
    response.statusCode = 404;
    response.end('{}');
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
// It ends with the test that started it.
process.stdin.on('end', () => process.exit()).resume();
