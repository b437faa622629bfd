/** Counts unclear comments per package and holds each count to `tools/lint/comment-marks.json`: see HELP. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseSync } from 'vite';

const HELP = `node tools/comment-marks.ts [--write | --list PACKAGE]

Counts, per package, the comments of .ts and .tsx files that have two or more marks of unclear English, and compares
each count with its bound in tools/lint/comment-marks.json. A bound may only fall.

  --write          lowers the bounds to today's counts
  --list PACKAGE   prints the comments of one package, such as libs/kernel, with their marks`;

/**
 * Marks of comments that most readers have to read twice, counted over 192 comments that were read without their code. Each is a hint:
 * two in one comment are almost never clear.
 */
const MARKS: Readonly<Record<string, RegExp>> = {
  'starts with what': /^what\b/i,
  'starts with who': /^(who|whom|whose|whoever)\b/i,
  'starts with so many': /^so (many|much|long|often)\b/i,
  'starts with a pronoun': /^(it|one|they|each|nothing|none|these|those|that|both|such)\b/i,
  'starts with a preposition':
    /^(of|by|behind|beyond|under|beneath|beside|between|without|within|among|over|above|below|to|from|in|on|at|for|with)\b/i,
  told: /\b(told|tells)\b/i,
  somebody: /\b(somebody|nobody|everybody|whoever|whatever)\b/i,
  stands: /\b(stands|stood)\b/i,
  nothing: /\b(nothing|none)\b/i,
  answers: /\banswers\b/i,
  'one that': /\b(one that|that one|of one|the ones?)\b/i,
  word: /\bwords?\b/i,
  place: /\bplaces?\b/i,
  turn: /\bturns?\b/i,
};
const MARKS_OF_AN_UNCLEAR_COMMENT = 2;

const root = resolve(import.meta.dirname, '..');
const boundsFile = join(root, 'tools/lint/comment-marks.json');

type Comment = { readonly file: string; readonly line: number; readonly text: string };
type Counts = Readonly<Record<string, number>>;

/** Returns the text of a comment without its delimiters and the stars of its lines. */
const textOf = (value: string): string =>
  value
    .split('\n')
    .map((line) => line.replace(/^\s*\*+\s?/, '').trim())
    .join(' ')
    .trim();

/** Returns the comments of one source text. Line comments on adjacent lines are one comment. */
export function commentsIn(file: string, source: string): readonly Comment[] {
  const found: { line: number; lastLine: number; isBlock: boolean; text: string }[] = [];
  let line = 1;
  let offset = 0;
  for (const { type, value, start, end } of parseSync(file, source).comments) {
    line += source.slice(offset, start).split('\n').length - 1;
    offset = start;
    const lastLine = line + source.slice(start, end).split('\n').length - 1;
    const previous = found.at(-1);
    const continues = type === 'Line' && previous?.isBlock === false && previous.lastLine === line - 1;
    if (continues) {
      previous.text += ` ${textOf(value)}`;
      previous.lastLine = line;
    } else found.push({ line, lastLine, isBlock: type === 'Block', text: textOf(value) });
  }
  return found.map(({ line: at, text }) => ({ file, line: at, text }));
}

/** Returns the names of the marks that a comment has. */
export const marksOf = (text: string): readonly string[] =>
  Object.entries(MARKS)
    .filter(([, mark]) => mark.test(text))
    .map(([name]) => name);

const isUnclear = ({ text }: Comment): boolean => marksOf(text).length >= MARKS_OF_AN_UNCLEAR_COMMENT;

/** Returns the package of a file: its folder below apps, libs or libs/adapters, else its top-level folder. */
export function packageOf(file: string): string {
  const [top = '', second = '', third = ''] = file.split('/');
  if (top === 'libs' && second === 'adapters') return `${top}/${second}/${third}`;
  return top === 'apps' || top === 'libs' ? `${top}/${second}` : file.includes('/') ? top : '.';
}

const unclearComments = (): readonly Comment[] =>
  execFileSync('git', ['-c', 'safe.directory=*', 'ls-files', '*.ts', '*.tsx'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && !/\.(gen|generated)\.ts$|\.d\.ts$/.test(file) && existsSync(join(root, file)))
    .flatMap((file) => commentsIn(file, readFileSync(join(root, file), 'utf8')))
    .filter(isUnclear);

const countByPackage = (comments: readonly Comment[]): Counts => {
  const counts: Record<string, number> = {};
  for (const { file } of comments) counts[packageOf(file)] = (counts[packageOf(file)] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

/** Returns one sentence per package that has more unclear comments than its bound allows. A package without a bound may have none. */
export const excesses = (counts: Counts, bounds: Counts): readonly string[] =>
  Object.entries(counts)
    .filter(([name, count]) => count > (bounds[name] ?? 0))
    .map(([name, count]) => `${name} has ${count} unclear comments, at most ${bounds[name] ?? 0} are allowed.`);

/** Returns the bounds lowered to the counts. No bound rises. */
export const lowered = (counts: Counts, bounds: Counts): Counts =>
  Object.fromEntries(
    Object.entries(bounds)
      .map(([name, bound]) => [name, Math.min(bound, counts[name] ?? 0)] as const)
      .filter(([, bound]) => bound > 0),
  );

function main(args: readonly string[]): number {
  const [option, name] = args;
  if (option === '--help') {
    console.log(HELP);
    return 0;
  }
  const comments = unclearComments();
  if (option === '--list') {
    for (const { file, line, text } of comments.filter((comment) => packageOf(comment.file) === name))
      console.log(`${file}:${line} [${marksOf(text).join(', ')}] ${text}`);
    return 0;
  }
  const bounds = JSON.parse(readFileSync(boundsFile, 'utf8')) as Counts;
  const counts = countByPackage(comments);
  if (option === '--write') writeFileSync(boundsFile, `${JSON.stringify(lowered(counts, bounds), null, 2)}\n`);
  const broken = excesses(counts, bounds);
  for (const sentence of broken)
    console.error(`${sentence} Reword them: node tools/comment-marks.ts --list ${sentence.split(' ')[0]}`);
  console.log(`${comments.length} comments with two or more marks`);
  return broken.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2));
