/**
 * Loaded into a program and its threads before their own code (`--expose-gc --import`): collects everything that is garbage every 15 s. By
 * itself V8 does so once in many minutes where there is little to do, and until then resident memory grows by what nobody needs.
 */
const EVERY = 15_000;

const { gc } = globalThis;
if (!gc) throw new Error('needs --expose-gc');
setInterval(() => gc(), EVERY).unref();
