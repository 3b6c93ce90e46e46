'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');

/**
 * Finds the compiler that the setting `nova.compiler` means.
 *
 * A name without a slash is looked for on the `PATH`. A relative path starts at `folder`, and `~` is the
 * user's folder.
 *
 * @param {string} setting
 * @param {string | undefined} folder
 * @param {NodeJS.ProcessEnv} environment
 * @returns {string | undefined} the path of a file that can be run
 */
function findCompiler(setting, folder, environment = process.env) {
  const written = setting.trim() || 'novac';
  const name = written.replace(/^~(?=[\\/])/, () => os.homedir());
  if (/[\\/]/.test(name)) {
    return executable(path.resolve(folder ?? '', name), environment);
  }
  const folders = (environment.PATH ?? environment.Path ?? '').split(path.delimiter);
  for (const candidate of folders.filter((entry) => entry !== '')) {
    const found = executable(path.join(candidate, name), environment);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * @param {string} file
 * @param {NodeJS.ProcessEnv} environment
 */
function executable(file, environment) {
  const endings = process.platform === 'win32' ? ['', ...(environment.PATHEXT ?? '.EXE').split(';')] : [''];
  return endings.map((ending) => file + ending).find((candidate) => {
    try {
      fs.accessSync(candidate, fs.constants.X_OK);
      return fs.statSync(candidate).isFile();
    } catch {
      return false;
    }
  });
}

module.exports = { findCompiler };
