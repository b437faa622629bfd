import { UsageError } from '../failure.ts';

/** Asks a person to confirm. Throws UsageError with `otherwise` if the answer is not yes, and if no terminal is there to ask. */
export async function agree(question: string, otherwise: string): Promise<void> {
  if (!process.stdin.isTTY) throw new UsageError(`${question}; say --yes, for nobody can be asked here`);
  const { createInterface } = await import('node:readline/promises');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const reply = await prompt.question(`${question}. Go on? [y/N] `);
  prompt.close();
  if (!/^y(es)?$/i.test(reply.trim())) throw new UsageError(otherwise);
}
