/** The environment of this process: the one place of the CLI that reads it. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;
