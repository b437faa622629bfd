import type { ChannelTemplate } from '@carillon/domain/channels';
import type {
  AccountBody,
  Configuration,
  IntegrationBody,
  ResourceKind,
  ResourceRef,
  StreamBody,
  TemplateBody,
  WorkspaceBody,
} from '@carillon/domain/configuration';
import type { Expression, ExpressionFault, ExpressionPlace } from '@carillon/domain/rules';
import type { TemplateIncludes } from '@carillon/domain/templates';
import type { Result } from '@carillon/kernel';
import type { WantedResource } from '../resource.ts';
import type { Report, TextPlace } from './finding.ts';

/** The part of the template renderer that checking needs. */
export type TemplateCheck = {
  /**
   * Returns the mistakes in a single text that templates include, or that includes other texts, without naming a part.
   */
  piece(source: string): readonly Omit<TemplateRemark, 'part'>[];
  check(template: ChannelTemplate): readonly TemplateRemark[];
  warnings(template: ChannelTemplate): readonly TemplateRemark[];
};
export type TemplateRemark = TextPlace & { readonly part: string; readonly message: string; readonly fix: string };

/** The part of the expression language that checking needs. */
export type ExpressionCheck = {
  compile(source: string, place: ExpressionPlace): Result<Expression, readonly ExpressionFault[]>;
};

/** Inputs of the checks besides the resources. */
export type CheckContext = {
  readonly language: ExpressionCheck;
  readonly templates: TemplateCheck;
  /** Existing configuration: API keys, and resources that a partial change may refer to. */
  readonly current: Configuration;
};

/** Resources that a resource may refer to: those checked together with it, and existing ones. */
export type CheckedAgainst = CheckContext & {
  /** Names that are wanted by kind and workspace, of resources with mistakes too: those are not missing. */
  names(kind: ResourceKind, workspace: string): readonly string[];
  /** Returns a workspace's account after the change. */
  account(workspace: string, name: string): AccountBody | undefined;
  /** Returns the template after the change. Undefined also for a template that cannot be read. */
  template(workspace: string, name: string): TemplateBody | undefined;
  /** Layouts and partials as they will be, else are. */
  includes(workspace: string): TemplateIncludes;
  /** Where mistakes in another resource go; each is told once. */
  reportOn(ref: ResourceRef): Report;
  /** Returns an integration after the change. */
  integration(workspace: string, name: string): IntegrationBody | undefined;
  /** Returns a shared stream after the change. */
  stream(workspace: string, name: string): StreamBody | undefined;
  /** Returns the workspace's own settings after the change. */
  workspace(workspace: string): WorkspaceBody | undefined;
};

/** Looks at one resource and reports what is wrong with it, by path. */
export type Check = (resource: WantedResource, around: CheckedAgainst, report: Report) => void;
