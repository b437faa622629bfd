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
 * Makes HTML of MJML, when a template is saved. Sources are hostile: it runs where it can be stopped, reads no file, and ends
 * after two seconds of work. Tags of templates in it come out as they are.
 */
export type MjmlCompiler = {
  /** Rejects only where compiling as such is not possible: closed, or no thread can be started. */
  compile(source: string): Promise<CompiledMjml>;
  close(): Promise<void>;
};
