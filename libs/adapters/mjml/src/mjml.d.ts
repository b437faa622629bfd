/** Types for mjml, which has none. Options: https://documentation.mjml.io/#inside-node-js. */
declare module 'mjml' {
  export type MjmlOptions = {
    readonly fonts?: Readonly<Record<string, string>>;
    readonly ignoreIncludes?: boolean;
    readonly useMjmlConfigOptions?: boolean;
    readonly filePath?: string;
    readonly validationLevel?: 'strict' | 'soft' | 'skip';
  };
  export default function mjml2html(source: string, options?: MjmlOptions): Promise<{ readonly html: string }>;
}
