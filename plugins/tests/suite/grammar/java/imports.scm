; Which names a Java file imports.

; import java.util.List;
(import_declaration (scoped_identifier) @source .) @import

; import java.util.*;
(import_declaration (scoped_identifier) @source (asterisk) @wildcard) @import
