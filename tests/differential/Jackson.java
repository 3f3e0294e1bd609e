// Jackson's streaming parser, what Spring and most of Java read JSON with. See README.md for what is read and written.
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.HexFormat;
import java.util.StringJoiner;
import java.util.TreeMap;

class Jackson {
    static String text(String value) {
        StringJoiner points = new StringJoiner(".");
        value.codePoints().forEach(point -> points.add(Integer.toHexString(point)));
        return points.toString();
    }

    static String dump(JsonParser parser, JsonToken token) throws Exception {
        switch (token) {
            case VALUE_NULL: return "n";
            case VALUE_TRUE: return "t";
            case VALUE_FALSE: return "f";
            case VALUE_NUMBER_INT: return "i" + parser.getBigIntegerValue();
            case VALUE_NUMBER_FLOAT: return String.format("d%016x", Double.doubleToRawLongBits(parser.getDoubleValue()));
            case VALUE_STRING: return "s" + text(parser.getText());
            case START_ARRAY: {
                StringBuilder out = new StringBuilder("[");
                for (JsonToken next; (next = parser.nextToken()) != JsonToken.END_ARRAY; ) out.append(' ').append(dump(parser, next));
                return out.append(" ]").toString();
            }
            case START_OBJECT: {
                TreeMap<String, String> members = new TreeMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = "k" + text(parser.getCurrentName());
                    members.put(name, dump(parser, parser.nextToken()));
                }
                StringBuilder out = new StringBuilder("{");
                members.forEach((name, member) -> out.append(' ').append(name).append(' ').append(member));
                return out.append(" }").toString();
            }
            default: throw new IllegalStateException(token.toString());
        }
    }

    public static void main(String[] arguments) throws Exception {
        JsonFactory factory = new JsonFactory();
        PrintStream out = new PrintStream(System.out, false, "US-ASCII");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            try (JsonParser parser = factory.createParser(HexFormat.of().parseHex(line))) {
                String value = dump(parser, parser.nextToken());
                if (parser.nextToken() != null) throw new IllegalStateException("more than one value");
                out.println(value);
            } catch (Exception fault) {
                out.println("! " + String.valueOf(fault.getMessage()).replace('\n', ' '));
            }
        }
        out.flush();
    }
}
