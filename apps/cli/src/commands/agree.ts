import { UsageError } from '../failure.ts';

/**
 * Asks a person to confirm. Throws UsageError with `otherwise` if the answer is not yes. If no terminal is there to ask, it throws
 * UsageError that names the options to give `instead`.
 */
export async function agree(question: string, otherwise: string, instead = '--yes'): Promise<void> {
  if (!process.stdin.isTTY) throw new UsageError(`${question}; pass ${instead}, because this terminal cannot ask`);
  const { createInterface } = await import('node:readline/promises');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const reply = await prompt.question(`${question}. Go on? [y/N] `);
  prompt.close();
  if (!/^y(es)?$/i.test(reply.trim())) throw new UsageError(otherwise);
}
