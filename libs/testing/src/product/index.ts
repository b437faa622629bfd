export { cli, type CliAnswer, type CliOptions } from './cli.ts';
export { launchProduct, startProduct } from './product.ts';
export type { LaunchedProduct, Product, ProductExit, ProductOptions } from './product.ts';
export { PROGRAM } from './program.ts';
