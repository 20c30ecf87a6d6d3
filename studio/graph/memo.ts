/** A component that is rendered again only if a property has changed. */
import { Component, type ComponentChild, h } from "preact";

export function memo<Props extends object>(render: (props: Props) => ComponentChild) {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const before = this.props as Record<string, unknown>;
      return Object.entries(next).some(([key, value]) => key !== "children" && before[key] !== value);
    }
    override render(): ComponentChild {
      return h(render as (props: object) => ComponentChild, this.props);
    }
  };
}
