import { declareStatefulOracle } from './declare-stateful-oracle.ts';

declareStatefulOracle(200);
