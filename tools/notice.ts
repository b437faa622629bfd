/** Makes NOTICE: the third-party packages that Carillon uses, with their licences, from the lockfile. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

type Locked = {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
};

/** Packages that name their licence in a form that npm does not copy into the lockfile; read from their LICENSE. */
const READ_BY_HAND: ReadonlyMap<string, string> = new Map([
  ['@kafkajs/confluent-schema-registry', 'MIT'],
  ['buildcheck', 'MIT'],
  ['cpu-features', 'MIT'],
  ['ssh2', 'MIT'],
]);

const HEAD = `Carillon
Licensed under the Apache License, Version 2.0 (see LICENSE).

Carillon uses the following third-party software. Each part is under its own licence. The full texts are in the packages, and of the parts
that a release carries in its file LICENSES-OF-OTHERS.txt. \`npm run -s schemas\` writes this file from package-lock.json.

The list of the most used passwords (apps/control/src/access/people/most-used-passwords.ts):
  @zxcvbn-ts/language-common 4.1.3: MIT
  Copyright (c) 2012-2016 Dan Wheeler and Dropbox, Inc. Copyright (c) 2021 @zxcvbn-ts

  Permission is hereby granted, free of charge, to any person obtaining
  a copy of this software and associated documentation files (the
  "Software"), to deal in the Software without restriction, including
  without limitation the rights to use, copy, modify, merge, publish,
  distribute, sublicense, and/or sell copies of the Software, and to
  permit persons to whom the Software is furnished to do so, subject to
  the following conditions:

  The above copyright notice and this permission notice shall be
  included in all copies or substantial portions of the Software.

  THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND,
  EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
  MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
  NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE
  LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION
  OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
  WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

Packages:
`;

/** Returns the text of NOTICE. Throws for a package whose licence the lockfile does not name. */
export function noticeText(root = resolve(import.meta.dirname, '..')): string {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const lines = Object.entries(lock.packages).flatMap(([path, { version, license, dev, link }]) => {
    const name = path.split('node_modules/').at(-1) ?? '';
    if (!path.includes('node_modules/') || dev === true || link === true) return [];
    const licence = license ?? READ_BY_HAND.get(name);
    if (licence === undefined) {
      throw new Error(`package-lock.json names no licence of ${name}: add it to READ_BY_HAND in tools/notice.ts`);
    }
    return [`  ${name} ${version}: ${licence}\n`];
  });
  return HEAD + [...new Set(lines)].toSorted().join('');
}
