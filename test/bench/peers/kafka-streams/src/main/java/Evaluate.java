import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;

/** The rules of `rule-set.ts` as lambdas over parsed JSON: for each that fires an intent, exactly once. */
public final class Evaluate {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Set<String> NEAR = Set.of("DE", "FR");

  private record Rule(String name, Predicate<JsonNode> when) {}

  private static boolean anyItem(JsonNode event, String sku) {
    for (JsonNode item : event.path("items")) if (item.path("sku").asText().equals(sku)) return true;
    return false;
  }

  private static List<Rule> rules(int ofEachShape) {
    List<Rule> rules = new ArrayList<>();
    for (int n = 0; n < ofEachShape; n++) {
      double total = 495 + n * 0.2;
      rules.add(new Rule("threshold-" + n,
          event -> event.path("status").asText().equals("paid") && event.path("total").asDouble() > total));
      String sku = "sku-" + (100 + n);
      rules.add(new Rule("item-" + n,
          event -> NEAR.contains(event.path("customer").path("country").asText()) && anyItem(event, sku)));
      String ending = "-" + (n * 7 + 3) + "@example.com";
      rules.add(new Rule("ending-" + n,
          event -> event.path("customer").path("email").asText().endsWith(ending)
              || event.path("currency").asText().equals("USD")));
      double doubled = 990 + n;
      rules.add(new Rule("sum-" + n,
          event -> event.path("total").asDouble() * 2 > doubled && event.path("items").size() >= 4));
      double amount = n;
      rules.add(new Rule("absent-" + n,
          event -> event.has("refund") && event.path("refund").path("amount").asDouble() > amount));
    }
    return rules;
  }

  private static byte[] intent(String id, String rule, JsonNode event) {
    Map<String, Object> intent = new LinkedHashMap<>();
    intent.put("event_id", id);
    intent.put("rule", rule);
    intent.put("to", event.path("customer").path("email").asText());
    intent.put("variables", event);
    try {
      return JSON.writeValueAsBytes(intent);
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
  }

  public static void main(String[] args) {
    List<Rule> rules = rules(Integer.parseInt(args[4]));
    Properties settings = new Properties();
    settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, args[0]);
    settings.put(StreamsConfig.APPLICATION_ID_CONFIG, args[2]);
    settings.put(StreamsConfig.STATE_DIR_CONFIG, args[3]);
    settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    settings.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");

    StreamsBuilder builder = new StreamsBuilder();
    builder
        .stream(args[1], Consumed.with(Serdes.String(), Serdes.ByteArray()))
        .<String, byte[]>flatMap((id, bytes) -> {
          JsonNode event;
          try {
            event = JSON.readTree(bytes);
          } catch (IOException error) {
            throw new IllegalStateException(error);
          }
          List<KeyValue<String, byte[]>> fired = new ArrayList<>();
          for (Rule rule : rules) {
            if (rule.when().test(event)) {
              fired.add(KeyValue.pair(id + "/" + rule.name(), intent(id, rule.name(), event)));
            }
          }
          return fired;
        })
        .to(args[2], Produced.with(Serdes.String(), Serdes.ByteArray()));

    KafkaStreams streams = new KafkaStreams(builder.build(), settings);
    streams.setStateListener((now, before) -> System.out.println("state " + now));
    Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
    streams.start();
  }
}
