/** The environment of this process. Other modules of the CLI read it only from here. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;
