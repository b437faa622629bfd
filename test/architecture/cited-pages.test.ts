import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commentsIn } from '../../tools/comment-marks.ts';

const root = resolve(import.meta.dirname, '../..');
const files = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));
const pages = files.filter((file) => file.endsWith('.md'));
const sources = files.filter((file) => /\.tsx?$/.test(file) && !/\.(gen|generated|d)\.ts$/.test(file));

/** Returns the Markdown pages that a comment names. Names in backticks are examples of users' files. */
const citedIn = (text: string): readonly string[] =>
  [...text.replaceAll(/`[^`]*`/g, '').matchAll(/[\w./-]*\w\.md\b/g)].map(([page]) => page);

const isInRepository = (page: string): boolean => pages.some((file) => file === page || file.endsWith(`/${page}`));

describe('pages that comments cite', () => {
  it('are in the repository', () => {
    const missing = sources.flatMap((file) =>
      commentsIn(file, readFileSync(join(root, file), 'utf8')).flatMap(({ line, text }) =>
        citedIn(text)
          .filter((page) => !isInRepository(page))
          .map((page) => `${file}:${line} cites ${page}`),
      ),
    );
    expect(missing).toEqual([]);
  });

  it('are found in a sentence, and examples in backticks are not', () => {
    expect(citedIn('See docs/internals/digests.md, step 2. Users write `notes.md`.')).toEqual([
      'docs/internals/digests.md',
    ]);
    expect(isInRepository('delivery.md')).toBe(false);
  });
});
