import type { RuleTester } from 'oxlint/plugins-dev';

/** oxlint does not export the type of a rule by name; this is it. */
export type Rule = Extract<Parameters<RuleTester['run']>[1], { create: unknown; createOnce?: never }>;
export type Context = Parameters<Rule['create']>[0];
export type Visitor = ReturnType<Rule['create']>;
