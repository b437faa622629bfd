export type MjmlFault = {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly fix: string;
};
export type CompiledMjml =
  | { readonly ok: true; readonly html: string }
  | {
      readonly ok: false;
      readonly faults: readonly MjmlFault[];
      /** The compiler had to be ended because of this source: it took all the time that there is for one, or all the memory. */
      readonly stopped?: true;
    };

/**
 * Compiles MJML to HTML when a template is saved. Sources may be hostile, so compilation can be stopped, reads no file,
 * and ends after two seconds of work. Template tags in the source stay unchanged.
 */
export type MjmlCompiler = {
  /** Rejects only where compiling as such is not possible: closed, or no thread can be started. */
  compile(source: string): Promise<CompiledMjml>;
  close(): Promise<void>;
};
