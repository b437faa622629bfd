export type { ChangeSources } from '@carillon/ports';
