import { declareComparisonOracle } from './declare-comparison-oracle.ts';

declareComparisonOracle(200);
