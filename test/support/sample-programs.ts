import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CodeLanguage } from '@carillon/insight';
import { PROGRAMS, type Program } from './programs.ts';

/** How a person would run a code sample that was saved to a file. */
export const SAMPLE_PROGRAMS = {
  curl: { file: 'send.sh', needs: ['curl'], command: '/bin/sh', args: ['send.sh'] },
  javascript: { file: 'send.mjs', needs: [], command: process.execPath, args: ['send.mjs'] },
  python: { file: 'send.py', needs: ['python'], command: PROGRAMS.python.path, args: ['send.py'] },
  go: { file: 'send.go', needs: ['go'], command: PROGRAMS.go.path, args: ['run', 'send.go'] },
} as const satisfies Readonly<
  Record<CodeLanguage, { file: string; needs: readonly Program[]; command: string; args: readonly string[] }>
>;

export type Ran = { readonly code: number | null; readonly out: string; readonly err: string };

/** The first Go program of a machine compiles Go's own library, which takes a while. */
const ENDS_WITHIN = 180_000;

/** Saves a sample as it was printed and runs it, with nothing but the credential in the environment that it could use. */
export async function runSample(
  language: CodeLanguage,
  code: string,
  env: Readonly<Record<string, string>>,
): Promise<Ran> {
  const { file, command, args } = SAMPLE_PROGRAMS[language];
  const folder = await mkdtemp(join(tmpdir(), 'carillon-sample-'));
  try {
    await writeFile(join(folder, file), code);
    const { PATH = '', HOME = folder } = process.env;
    const child = spawn(command, args, { cwd: folder, env: { PATH, HOME, ...env }, timeout: ENDS_WITHIN });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    return await new Promise((settle, fail) => {
      child.once('error', fail);
      child.once('close', (code_) => settle({ code: code_, out, err }));
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
