import type {
  Expression,
  ExpressionFault,
  ExpressionPlace,
  EmailTemplate,
  ResourceBodies,
  ResourceRef,
} from '@carillon/domain';
import type { Configuration } from '@carillon/domain';
import type { Result } from '@carillon/kernel';
import type { FileFault, FileWarning, Place, ValuePath } from './place.ts';

/** Kinds of resources that files hold. API keys are not: a digest in a file would be a secret out of place. */
export type FileResourceKind = Exclude<keyof ResourceBodies, 'api_key'>;

/** A resource as the folder wants it. */
export type DesiredResource<Kind extends FileResourceKind = FileResourceKind> = {
  [Each in Kind]: {
    readonly ref: ResourceRef<Each>;
    readonly body: ResourceBodies[Each];
    /** Where it is written; of a template the file with its subject. */
    readonly file: string;
    /** Where in that file a value stands. */
    place(path: ValuePath): Place;
  };
}[Kind];

/** What a process needs before it can read the configuration from the log. */
export type StartSettings = { readonly backend: 'embedded' };

export type FolderReading = {
  readonly resources: readonly DesiredResource[];
  readonly start: StartSettings;
  /** All mistakes, in reading order. With any of them nothing may be applied. */
  readonly faults: readonly FileFault[];
  readonly warnings: readonly FileWarning[];
};

/** The part of the template renderer that checking needs. */
export type TemplateCheck = {
  check(template: EmailTemplate): readonly TemplateRemark[];
  warnings(template: EmailTemplate): readonly TemplateRemark[];
};
export type TemplateRemark = Place & { readonly part: string; readonly message: string; readonly fix: string };

/** The part of the expression language that checking needs. */
export type ExpressionCheck = {
  compile(source: string, place: ExpressionPlace): Result<Expression, readonly ExpressionFault[]>;
};

export type ReadingContext = {
  readonly language: ExpressionCheck;
  readonly templates: TemplateCheck;
  /** What is there already: API keys, and resources that a partial folder may refer to. */
  readonly current: Configuration;
};
