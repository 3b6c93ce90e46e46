// Makes dist/extension.js of src/ and the libraries that it uses, and dist/LICENSES.txt of their licenses.

'use strict';

const esbuild = require('esbuild');
const fs = require('fs');
const path = require('path');

const { metafile } = esbuild.buildSync({
  entryPoints: ['src/extension.js'],
  outfile: 'dist/extension.js',
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'cjs',
  target: 'node18',
  external: ['vscode'],
  metafile: true,
  absWorkingDir: __dirname,
  logLevel: 'warning',
});

/** The folders of the packages in the bundle. */
const packages = new Set(
  Object.keys(metafile.inputs).flatMap((input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []),
);

const licenses = [...packages].sort().map((folder) => {
  const file = fs.readdirSync(path.join(__dirname, folder)).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no license`);
  const { name, version } = require(path.join(__dirname, folder, 'package.json'));
  return `== ${name} ${version} ==\n\n${fs.readFileSync(path.join(__dirname, folder, file), 'utf8').trim()}\n`;
});
fs.writeFileSync(path.join(__dirname, 'dist/LICENSES.txt'), licenses.join('\n'));
