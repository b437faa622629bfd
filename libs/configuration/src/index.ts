export { BROKER, FILE_SHAPES, LISTEN, SLUG, SLUG_WORDS, type FileKind, type StartSettings } from '@carillon/shapes';
export {
  type BodiesReading,
  type GivenResource,
  readResourceBodies,
  readResourceBodiesCoroutine,
} from './bodies/read-bodies.ts';
export { resourceFault, type ResourceFault, resourceWarning, type ResourceWarning } from './bodies/resource-fault.ts';
export { bodyJsonSchema, writtenBody } from './bodies/body-schema.ts';
export { writtenTemplate } from './bodies/template-body.ts';
export { checkResources, includesIn } from './checks/check-resources.ts';
export * from './checks/finding.ts';
export type { CheckContext, ExpressionCheck, TemplateCheck } from './checks/check-context.ts';
export { fileJsonSchema } from './files/json-schemas.ts';
export { accountForms, integrationForms, type FormPart } from './files/kind-forms.ts';
export { mergeFile } from './files/merge-file.ts';
export * from './files/place.ts';
export { type CaseFile, type PlacedStep, readCases, type RuleCase } from './files/read-cases.ts';
export { type FolderReading, readConfigurationFolder } from './files/read-folder.ts';
export { readStartSettings } from './files/read-start.ts';
export { configurationReference } from './files/reference.ts';
export { FILE_SECTIONS } from './files/reference-sections.ts';
export { resourceFiles, resourceYaml, writeConfigurationFolder } from './files/write-folder.ts';
export { referencesOf } from './plan/references.ts';
export { planChanges, planChangesCoroutine } from './plan/plan.ts';
export type { Plan, PlannedAction, PlannedChange, PlanOptions } from './plan/planned.ts';
export { isKind, isWritten, type WantedResource, type WrittenKind } from './resource.ts';
export { pathText, type ValuePath } from './value-path.ts';
