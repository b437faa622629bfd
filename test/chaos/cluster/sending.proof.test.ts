import { declareSending } from './declare-sending.ts';

declareSending(0);
